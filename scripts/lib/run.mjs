import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { root } from './root.mjs';

/**
 * Runs a command in the repository, attached to the caller's terminal.
 * SIGTERM is forwarded, so that the child can drain. A terminal already sends Ctrl-C to the child, and a
 * second SIGINT would force an immediate stop. Therefore SIGINT is forwarded only without a terminal.
 * @returns the exit code. After a signal it is 128 + the signal number, as in a shell.
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

/** Runs a script or a compiled file with the current Node executable. */
export function runNode(args, options) {
  return run(process.execPath, args, options);
}
