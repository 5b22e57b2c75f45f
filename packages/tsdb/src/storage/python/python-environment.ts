import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';

const PROBE_LIMIT_MS = 10_000;
const INSTALL_LIMIT_MS = 600_000;
/** What the installer last said, as much as an answer carries. */
const MAX_OUTPUT_CHARS = 2000;

const OLDEST = [3, 9] as const;
/** Without `tomllib`, which much of what plugins use needs. */
const OLDEST_COMPLETE = [3, 11] as const;

const PROBE = `
import importlib.util, json, sys
has = lambda name: importlib.util.find_spec(name) is not None
print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable,
    "venv": has("venv"), "ensurepip": has("ensurepip"), "pip": has("pip")}))
`;

export interface PythonFacts {
  readonly version: readonly number[];
  readonly executable: string;
  readonly venv: boolean;
  readonly ensurepip: boolean;
  readonly pip: boolean;
}

/** How plugins are run: the interpreter, and the environment their packages are in. */
export interface PythonEnvironment {
  readonly python: string;
  readonly base: PythonFacts;
  /** `undefined`: there is none, and packages cannot be installed. */
  readonly virtualEnv: string | undefined;
  /** What a person should know, for the log. */
  readonly warnings: readonly string[];
}

export type FoundPython =
  | { readonly kind: 'found'; readonly environment: PythonEnvironment }
  | { readonly kind: 'unavailable'; readonly why: string };

/**
 * Looks for an interpreter and makes the virtual environment when it is not there yet.
 * Source: processing-engine, "Finding Python".
 */
export async function openPythonEnvironment(options: {
  /** Setting; `undefined` looks in the usual places. */
  readonly python: string | undefined;
  readonly virtualEnv: string;
  readonly pluginFolder: string;
  /** False: no environment is made. */
  readonly mayMakeEnvironment: boolean;
  readonly usesSystemPackages: boolean;
}): Promise<FoundPython> {
  const found = await findPython(options);
  if (typeof found === 'string') return { kind: 'unavailable', why: found };
  const warnings: string[] = [];
  if (isOlder(found.version, OLDEST_COMPLETE)) {
    warnings.push(`Python ${found.version.join('.')} lacks modules that plugins use; take 3.11`);
  }
  const inEnvironment = join(options.virtualEnv, 'bin', 'python');
  const environment = (virtualEnv: string | undefined): FoundPython => ({
    kind: 'found',
    environment: {
      python: virtualEnv === undefined ? found.executable : inEnvironment,
      base: found,
      virtualEnv,
      warnings,
    },
  });
  if ((await probe(inEnvironment)) !== undefined) return environment(options.virtualEnv);
  if (!options.mayMakeEnvironment) return environment(undefined);
  if (!found.venv) {
    warnings.push(
      'module venv is missing (Debian: apt install python3-venv): no virtual environment',
    );
    return environment(undefined);
  }
  const flags = [
    '--without-pip',
    ...(options.usesSystemPackages ? ['--system-site-packages'] : []),
  ];
  const made = await runProgram(
    found.executable,
    ['-m', 'venv', ...flags, options.virtualEnv],
    PROBE_LIMIT_MS,
  );
  if (made.exitCode === 0) return environment(options.virtualEnv);
  warnings.push(`virtual environment not made: ${made.output.trim()}`);
  return environment(undefined);
}

/** Settings of the server: addresses with passwords, keys and tokens are among them. */
const OWN_SETTING = /^PLINTH_/;

/** The environment in which plugins run. Source: processing-engine, "Packages and environment". */
export function pluginEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  at: {
    readonly environment: PythonEnvironment;
    readonly pluginFolder: string;
  },
): Record<string, string> {
  const kept = withoutOwnSettings(from);
  const { virtualEnv } = at.environment;
  if (virtualEnv !== undefined) {
    kept['VIRTUAL_ENV'] = virtualEnv;
    kept['PATH'] = [join(virtualEnv, 'bin'), kept['PATH'] ?? ''].join(delimiter);
  }
  kept['PLUGIN_DIR'] = at.pluginFolder;
  kept['INFLUXDB3_PLUGIN_DIR'] = at.pluginFolder;
  // The time a schedule hands over has no zone; plugins take it for UTC.
  kept['TZ'] = 'UTC';
  return kept;
}

function withoutOwnSettings(
  from: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value !== undefined && !OWN_SETTING.test(name)) kept[name] = value;
  }
  return kept;
}

export interface ProgramEnd {
  /** `undefined`: it was not started or took too long. */
  readonly exitCode: number | undefined;
  /** The end of what it wrote to standard error, or to standard output when that is all. */
  readonly output: string;
}

/** Runs the installer of packages. Source: processing-engine, "Packages and environment". */
export async function installPackages(
  environment: PythonEnvironment,
  args: readonly string[],
  /** Whether uv may do it, where it is there. */
  mayUseUv: boolean,
): Promise<ProgramEnd> {
  const uv = mayUseUv ? await uvFor(environment) : undefined;
  if (uv !== undefined) return await runProgram('uv', [...uv, ...args], INSTALL_LIMIT_MS);
  const installer = await installerOf(environment);
  if (installer === undefined) {
    return {
      exitCode: undefined,
      output:
        'there is no pip: apt install python3-venv python3-pip, or disable package management',
    };
  }
  const options = ['--disable-pip-version-check', '--no-input'];
  return await runProgram(
    installer.program,
    [...installer.args, 'install', ...options, ...args],
    INSTALL_LIMIT_MS,
  );
}

/** Arguments for uv, which is many times faster than pip; `undefined`: it is not on the path. */
async function uvFor({
  python,
  virtualEnv,
}: PythonEnvironment): Promise<readonly string[] | undefined> {
  // Never into the system's own packages.
  if (virtualEnv === undefined) return undefined;
  const { exitCode } = await runProgram('uv', ['--version'], PROBE_LIMIT_MS);
  return exitCode === 0 ? ['pip', 'install', '--no-progress', '--python', python] : undefined;
}

async function installerOf({
  python,
  base,
  virtualEnv,
}: PythonEnvironment): Promise<
  { readonly program: string; readonly args: readonly string[] } | undefined
> {
  // Never into the system's own packages.
  if (virtualEnv === undefined) return undefined;
  const inside = { program: python, args: ['-m', 'pip'] };
  if ((await probe(python))?.pip === true) return inside;
  if (base.ensurepip) {
    const added = await runProgram(python, ['-m', 'ensurepip'], INSTALL_LIMIT_MS);
    if (added.exitCode === 0) return inside;
  }
  return base.pip
    ? { program: base.executable, args: ['-m', 'pip', '--python', python] }
    : undefined;
}

async function findPython(options: {
  readonly python: string | undefined;
  readonly virtualEnv: string;
  readonly pluginFolder: string;
}): Promise<PythonFacts | string> {
  const candidates =
    options.python === undefined
      ? [
          join(options.virtualEnv, 'bin', 'python'),
          join(options.pluginFolder, '.venv', 'bin', 'python'),
          'python3',
          'python',
        ]
      : [options.python];
  let tooOld: string | undefined;
  for (const candidate of candidates) {
    const facts = await probe(candidate);
    if (facts === undefined) continue;
    if (!isOlder(facts.version, OLDEST)) return facts;
    tooOld ??= `${facts.executable} is Python ${facts.version.join('.')}, 3.9 or later is needed`;
  }
  return (
    tooOld ??
    'python3 (>= 3.9) not found; install it (Debian/Ubuntu: apt install python3 python3-venv) or set --python'
  );
}

async function probe(python: string): Promise<PythonFacts | undefined> {
  const { exitCode, stdout } = await runProgram(python, ['-c', PROBE], PROBE_LIMIT_MS);
  if (exitCode !== 0) return undefined;
  try {
    const facts: unknown = JSON.parse(stdout);
    return Array.isArray(Reflect.get(Object(facts), 'version'))
      ? (facts as PythonFacts)
      : undefined;
  } catch {
    return undefined; // Something else of that name.
  }
}

function isOlder(version: readonly number[], than: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version;
  return major < than[0] || (major === than[0] && minor < than[1]);
}

function runProgram(
  program: string,
  args: readonly string[],
  limitMs: number,
): Promise<ProgramEnd & { readonly stdout: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
      killSignal: 'SIGKILL',
      cwd: dirname(process.execPath),
      // Packages bring scripts that run while they are installed.
      env: withoutOwnSettings(process.env),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout = (stdout + text).slice(-65_536);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-65_536);
    });
    const end = (exitCode: number | undefined, output: string): void =>
      resolve({ exitCode, output: output.slice(-MAX_OUTPUT_CHARS), stdout });
    child.on('error', (error) => end(undefined, error.message));
    child.on('close', (code) => end(code ?? undefined, stderr.trim() === '' ? stdout : stderr));
  });
}
