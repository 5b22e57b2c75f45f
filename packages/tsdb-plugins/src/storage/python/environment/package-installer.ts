import type { ProgramEnd, RunProgram } from '../process/run-program.js';
import { type PythonEnvironment, probe } from './python-environment.js';

const VERSION_LIMIT_MS = 10_000;
const INSTALL_LIMIT_MS = 600_000;

/** Runs the package installer. Source: processing-engine, "Packages and environment". */
export async function installPackages(
  environment: PythonEnvironment,
  args: readonly string[],
  options: {
    readonly run: RunProgram;
    /** Whether uv may be used if it is available. */
    readonly mayUseUv: boolean;
  },
): Promise<Pick<ProgramEnd, 'exitCode' | 'output'>> {
  const { run, mayUseUv } = options;
  const uv = mayUseUv ? await uvFor(environment, run) : undefined;
  if (uv !== undefined) return await run('uv', [...uv, ...args], INSTALL_LIMIT_MS);
  const installer = await installerOf(environment, run);
  if (installer === undefined) {
    return {
      exitCode: undefined,
      output:
        'pip is not available; run apt install python3-venv python3-pip, or disable package management',
    };
  }
  const flags = ['--disable-pip-version-check', '--no-input'];
  return await run(
    installer.program,
    [...installer.args, 'install', ...flags, ...args],
    INSTALL_LIMIT_MS,
  );
}

/**
 * Returns the arguments for uv, which is many times faster than pip; `undefined` if uv is not on
 * the path.
 */
async function uvFor(
  { python, virtualEnv }: PythonEnvironment,
  run: RunProgram,
): Promise<readonly string[] | undefined> {
  // Never install into the system's packages.
  if (virtualEnv === undefined) return undefined;
  const { exitCode } = await run('uv', ['--version'], VERSION_LIMIT_MS);
  return exitCode === 0 ? ['pip', 'install', '--no-progress', '--python', python] : undefined;
}

async function installerOf(
  { python, base, virtualEnv }: PythonEnvironment,
  run: RunProgram,
): Promise<{ readonly program: string; readonly args: readonly string[] } | undefined> {
  // Never install into the system's packages.
  if (virtualEnv === undefined) return undefined;
  const inside = { program: python, args: ['-m', 'pip'] };
  if ((await probe(python, run))?.pip === true) return inside;
  if (base.ensurepip) {
    const added = await run(python, ['-m', 'ensurepip'], INSTALL_LIMIT_MS);
    if (added.exitCode === 0) return inside;
  }
  return base.pip
    ? { program: base.executable, args: ['-m', 'pip', '--python', python] }
    : undefined;
}
