import { chown } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileSystem } from '@plinth/kernel';
import { makeFolderForOthers } from '../folder-for-others.js';
import type { PluginUser } from '../plugin-user.js';
import type { RunProgram } from '../process/run-program.js';

const PROBE_LIMIT_MS = 10_000;

const OLDEST = [3, 9] as const;
/** Earlier versions lack `tomllib`, which many packages need. */
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

/** Hidden names, environments and compiled files do not count as plugins. */
const UNREADABLE_BELOW = `
import json, os, sys
found = []
for folder, folders, files in os.walk(sys.argv[1]):
    folders[:] = [] if "pyvenv.cfg" in files else [name for name in folders if name[0] != "." and name != "__pycache__"]
    found += [path for path in (os.path.join(folder, name) for name in folders) if not os.access(path, os.R_OK | os.X_OK)]
    found += [path for path in (os.path.join(folder, name) for name in files if name[0] != ".") if not os.access(path, os.R_OK)]
print(json.dumps({"count": len(found), "first": sorted(found)[:5]}))
`;

const IS_WRITABLE = `
import os, sys, sysconfig
print(all(os.access(path, os.W_OK) for path in (sys.prefix, sysconfig.get_path("purelib"))))
`;

export interface PythonFacts {
  readonly version: readonly number[];
  readonly executable: string;
  readonly venv: boolean;
  readonly ensurepip: boolean;
  readonly pip: boolean;
}

/** The Python interpreter, and the environment of the plugins' packages. */
export interface PythonEnvironment {
  readonly python: string;
  readonly base: PythonFacts;
  /** Folder of the virtual environment. If `undefined`, packages cannot be installed. */
  readonly virtualEnv: string | undefined;
  /** Problems to log for the operator. */
  readonly warnings: readonly string[];
}

export type FoundPython =
  | { readonly kind: 'found'; readonly environment: PythonEnvironment }
  | { readonly kind: 'unavailable'; readonly why: string };

/**
 * Finds an interpreter and creates the virtual environment if it is missing.
 * Source: processing-engine, "Finding Python".
 */
export async function openPythonEnvironment(options: {
  /** The setting; `undefined` searches the usual locations. */
  readonly python: string | undefined;
  readonly virtualEnv: string;
  readonly pluginFolder: string;
  /** If false, no environment is created. */
  readonly mayMakeEnvironment: boolean;
  readonly usesSystemPackages: boolean;
  /** Runs programs as the user of the plugins, who may be able to change the environment. */
  readonly run: RunProgram;
  readonly user: PluginUser | undefined;
  /** Paths that this user must be able to read. */
  readonly neededPaths: readonly string[];
  readonly files: FileSystem;
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
    warnings.push(
      `Python ${found.version.join('.')} lacks modules that plugins use; install Python 3.11 or later`,
    );
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
  if (user !== undefined) warnings.push(...(await unreadablePlugins(found.executable, options)));
  if ((await probe(inEnvironment, run)) !== undefined) {
    if (
      user !== undefined &&
      options.mayMakeEnvironment &&
      !(await isWritable(inEnvironment, run))
    ) {
      warnings.push(
        `user ${user.name} cannot write the virtual environment ${options.virtualEnv}, so packages cannot be installed; change its owner (chown -R), or delete it to create a new one`,
      );
    }
    return environment(options.virtualEnv);
  }
  if (!options.mayMakeEnvironment) return environment(undefined);
  if (!found.venv) {
    warnings.push(
      'no virtual environment: the module venv is missing (Debian: apt install python3-venv)',
    );
    return environment(undefined);
  }
  const flags = [
    '--without-pip',
    ...(options.usesSystemPackages ? ['--system-site-packages'] : []),
  ];
  await giveFolder(options.virtualEnv, options);
  const made = await run(
    found.executable,
    ['-m', 'venv', ...flags, options.virtualEnv],
    PROBE_LIMIT_MS,
  );
  if (made.exitCode === 0) return environment(options.virtualEnv);
  const who =
    user === undefined
      ? ''
      : ` (user ${user.name} must be able to write ${options.virtualEnv} and to enter its parent folders)`;
  warnings.push(`virtual environment not created: ${made.output.trim()}${who}`);
  return environment(undefined);
}

/** Returns a message about paths that the other user cannot read. The check runs as that user. */
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
  if (exitCode !== 0) return `programs cannot be run as user ${user.name}: ${output.trim()}`;
  const unreadable = JSON.parse(stdout) as readonly string[]; // printed by the script above
  if (unreadable.length === 0) return undefined;
  return `user ${user.name} cannot read ${unreadable.join(', ')}; make it and its parent folders readable (chmod o+rX), or set tsdb.plugin_user to another user`;
}

/**
 * Returns a warning about existing files that the user cannot read, because each would fail at its
 * first run.
 */
async function unreadablePlugins(
  python: string,
  {
    run,
    user,
    pluginFolder,
  }: Pick<Parameters<typeof openPythonEnvironment>[0], 'run' | 'user' | 'pluginFolder'>,
): Promise<readonly string[]> {
  const { exitCode, stdout } = await run(
    python,
    ['-I', '-c', UNREADABLE_BELOW, pluginFolder],
    PROBE_LIMIT_MS,
  );
  if (exitCode !== 0) return []; // The folder is too large to scan. Plugins report missing files themselves.
  const found = JSON.parse(stdout) as { readonly count: number; readonly first: readonly string[] }; // printed by the script above
  if (found.count === 0) return [];
  const more =
    found.count > found.first.length ? ` and ${found.count - found.first.length} more` : '';
  return [
    `user ${user?.name} cannot read ${found.first.join(', ')}${more}; make the files of plugins readable (chmod -R o+rX ${pluginFolder})`,
  ];
}

async function isWritable(python: string, run: RunProgram): Promise<boolean> {
  const { stdout } = await run(python, ['-I', '-c', IS_WRITABLE], PROBE_LIMIT_MS);
  return stdout.trim() === 'True';
}

/**
 * Creates the folder of the environment and makes the user its owner, so that packages are
 * installed as that user.
 */
async function giveFolder(
  folder: string,
  { files, user }: { readonly files: FileSystem; readonly user: PluginUser | undefined },
): Promise<void> {
  if (user === undefined || (await files.stat(folder)) !== undefined) return;
  await makeFolderForOthers(files, folder);
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
    tooOld ??= `${facts.executable} is Python ${facts.version.join('.')}; 3.9 or later is required`;
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
    return undefined; // The output is from another program with this name.
  }
}

function isOlder(version: readonly number[], than: readonly [number, number]): boolean {
  const [major = 0, minor = 0] = version;
  return major < than[0] || (major === than[0] && minor < than[1]);
}
