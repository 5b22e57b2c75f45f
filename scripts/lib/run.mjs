import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from './root.mjs';

/**
 * Runs a command in the repository with the terminal of the caller.
 * SIGTERM is handed on, so that the child can drain; its end is our end. A terminal sends Ctrl-C to
 * the child itself, and a second one would tell it to hurry: SIGINT is only handed on without one.
 * @returns the exit code; a death by signal becomes 128 + its number, as a shell says it.
 */
export function run(command, args, options = {}) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', ...options });
  const forward = (signal) => {
    if (signal === 'SIGTERM' || !process.stdin.isTTY) child.kill(signal);
  };
  process.on('SIGINT', forward).on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.off('SIGINT', forward).off('SIGTERM', forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** Runs a script or a compiled file with the Node that runs us. */
export function runNode(args, options) {
  return run(process.execPath, args, options);
}
