import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.js';

/** Kept between test runs, so that packages are installed only once. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));
const INSTALL_TIMEOUT_MS = 180_000;
const PIP = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--retries', '1'];

export interface PythonPackages {
  /** Name of the installation folder. */
  readonly name: string;
  readonly packages: readonly string[];
  /** A statement that succeeds when the packages are installed. */
  readonly probe: string;
}

/** Returns the path of a Python with the packages; `undefined` (and the test is skipped) when they cannot be installed. */
export async function pythonWith(
  { name, packages, probe }: PythonPackages,
  context: Pick<TestContext, 'skip'>,
): Promise<string | undefined> {
  const folder = join(CACHE, `plinth-python-${name}`);
  const python = join(folder, 'bin', 'python');
  if (spawnSync(python, ['-c', probe]).status === 0) return python;
  const timeoutMs = INSTALL_TIMEOUT_MS;
  try {
    await mkdir(folder, { recursive: true });
    await runProgram('python3', ['-m', 'venv', folder], { timeoutMs });
    await runProgram(python, [...PIP, ...packages], { timeoutMs });
    return python;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n').slice(-3).join(' ') : '';
    context.skip(`the Python packages cannot be installed: ${reason}`);
    return undefined;
  }
}
