import { chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PluginUser } from './plugin-user.js';
import type { RunProgram } from './run-program.js';

const PROBE_LIMIT_MS = 10_000;

const OLDEST = [3, 9] as const;
/** Without `tomllib`, which much of what plugins use needs. */
const OLDEST_COMPLETE = [3, 11] as const;

const PROBE = `
import importlib.util, json, sys
has = lambda name: importlib.util.find_spec(name) is not None
print(json.dumps({"version": list(sys.version_info[:3]), "executable": sys.executable,
    "venv": has("venv"), "ensurepip": has("ensurepip"), "pip": has("pip")}))
`;

const UNREADABLE = `
import json, os, sys
def is_readable(path):
    try:
        os.listdir(path) if os.path.isdir(path) else open(path, "rb").close()
    except OSError:
        return False
    return True
print(json.dumps([path for path in sys.argv[1:] if not is_readable(path)]))
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
  /** Runs whatever is run here as the user whom plugins run as: an environment may be theirs to change. */
  readonly run: RunProgram;
  readonly user: PluginUser | undefined;
  /** What that user has to be able to read. */
  readonly neededPaths: readonly string[];
}): Promise<FoundPython> {
  const { run, user } = options;
  const found = await findPython(options);
  if (typeof found === 'string') {
    const whose = user === undefined ? '' : ` (for user ${user.name})`;
    return { kind: 'unavailable', why: `${found}${whose}` };
  }
  const unreadable = await findUnreadable(found.executable, options);
  if (unreadable !== undefined) return { kind: 'unavailable', why: unreadable };
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
  if ((await probe(inEnvironment, run)) !== undefined) return environment(options.virtualEnv);
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
  await giveFolder(options.virtualEnv, user);
  const made = await run(
    found.executable,
    ['-m', 'venv', ...flags, options.virtualEnv],
    PROBE_LIMIT_MS,
  );
  if (made.exitCode === 0) return environment(options.virtualEnv);
  warnings.push(`virtual environment not made: ${made.output.trim()}`);
  return environment(undefined);
}

/** What the other user cannot read, in words; what they see is all that counts. */
async function findUnreadable(
  python: string,
  {
    run,
    user,
    neededPaths,
  }: Pick<Parameters<typeof openPythonEnvironment>[0], 'run' | 'user' | 'neededPaths'>,
): Promise<string | undefined> {
  if (user === undefined) return undefined;
  const { exitCode, stdout, output } = await run(
    python,
    ['-I', '-c', UNREADABLE, ...neededPaths],
    PROBE_LIMIT_MS,
  );
  if (exitCode !== 0) return `nothing can be run as user ${user.name}: ${output.trim()}`;
  const unreadable = JSON.parse(stdout) as readonly string[]; // printed by the text above
  if (unreadable.length === 0) return undefined;
  return `user ${user.name} cannot read ${unreadable.join(', ')}: make it readable with all folders above it (chmod o+rX), or let tsdb.plugin_user name another`;
}

/** The folder of an environment is the user's own, so that packages are installed as that user. */
async function giveFolder(folder: string, user: PluginUser | undefined): Promise<void> {
  if (user === undefined || (await stat(folder).catch(() => undefined)) !== undefined) return;
  await mkdir(folder, { recursive: true });
  await chown(folder, user.uid, user.gid);
}

async function findPython(options: {
  readonly python: string | undefined;
  readonly virtualEnv: string;
  readonly pluginFolder: string;
  readonly run: RunProgram;
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
    const facts = await probe(candidate, options.run);
    if (facts === undefined) continue;
    if (!isOlder(facts.version, OLDEST)) return facts;
    tooOld ??= `${facts.executable} is Python ${facts.version.join('.')}, 3.9 or later is needed`;
  }
  return (
    tooOld ??
    'python3 (>= 3.9) not found; install it (Debian/Ubuntu: apt install python3 python3-venv) or set --python'
  );
}

export async function probe(python: string, run: RunProgram): Promise<PythonFacts | undefined> {
  const { exitCode, stdout } = await run(python, ['-c', PROBE], PROBE_LIMIT_MS);
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
