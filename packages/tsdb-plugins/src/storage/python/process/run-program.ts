import { spawn } from 'node:child_process';
import type { PluginUser } from '../plugin-user.js';

/** Maximum program output in an error response. */
const MAX_OUTPUT_CHARS = 2000;
const MAX_KEPT_CHARS = 65_536;

export interface ProgramEnd {
  /** `undefined` if it did not start or timed out. */
  readonly exitCode: number | undefined;
  /** End of the standard error; of the standard output if that is empty. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs a program to completion. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  limitMs: number,
) => Promise<ProgramEnd>;

export function programRunner(
  env: Readonly<Record<string, string>>,
  user: PluginUser | undefined,
): RunProgram {
  return (program, args, limitMs) =>
    new Promise((resolve) => {
      const child = spawn(program, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: limitMs,
        killSignal: 'SIGKILL',
        // Python also imports modules from the working directory, and this one contains none.
        cwd: '/',
        env,
        ...(user && { uid: user.uid, gid: user.gid }),
      });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout = (stdout + text).slice(-MAX_KEPT_CHARS);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-MAX_KEPT_CHARS);
      });
      const end = (exitCode: number | undefined, output: string): void =>
        resolve({ exitCode, output: output.slice(-MAX_OUTPUT_CHARS), stdout });
      child.on('error', (error) => end(undefined, error.message));
      child.on('close', (code) => end(code ?? undefined, stderr.trim() === '' ? stdout : stderr));
    });
}
