import { spawn } from 'node:child_process';
import type { PluginUser } from '../plugin-user.js';

/** What an answer carries of what a program said, at most. */
const MAX_OUTPUT_CHARS = 2000;
const MAX_KEPT_CHARS = 65_536;

export interface ProgramEnd {
  /** `undefined`: it was not started or took too long. */
  readonly exitCode: number | undefined;
  /** The end of what it wrote to standard error, or to standard output when that is all. */
  readonly output: string;
  readonly stdout: string;
}

/** Runs a program to its end. */
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
        // Modules are also looked for in the working folder, and nobody puts any there.
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
