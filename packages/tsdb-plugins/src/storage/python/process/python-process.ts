import { type ChildProcess, spawn } from 'node:child_process';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { encodeFrame, type Frame, type FrameHeader, FrameReader } from '../plugin-frames.js';
import type { PluginUser } from '../plugin-user.js';
import { MARK_VARIABLE, type MarkedProcesses } from './marked-processes.js';

const START_SCRIPT = fileURLToPath(new URL('../../../../python/start.py', import.meta.url));
/** Folder of the start script, which also contains the modules of the worker. */
export const START_FOLDER = dirname(START_SCRIPT);
/** Maximum length of an output line; longer lines are split. */
const MAX_OUTPUT_LINE_BYTES = 64 * 1024;

export interface PythonProcessOptions {
  readonly python: string;
  readonly env: Readonly<Record<string, string>>;
  /** `undefined` runs as the user of the server. */
  readonly user: PluginUser | undefined;
  /** Unique mark of the process. */
  readonly mark: string;
  readonly marked: MarkedProcesses;
  readonly onFrame: (frame: Frame) => void;
  /** Receives standard output and error of the process, line by line. */
  readonly onOutput: (line: string) => void;
  /** Called once, when the process has ended or could not be started. */
  readonly onExit: (how: ProcessEnd) => void;
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'not_started'; readonly error: Error };

/**
 * A worker process, which exchanges frames over file descriptor 3. It leads its own process group,
 * and all its child processes carry its mark, so that none of them survives it. It exits, with its
 * child processes, when the server is gone.
 */
export class PythonProcess {
  readonly #child: ChildProcess;
  readonly #channel: Duplex;
  readonly #mark: string;
  readonly #marked: MarkedProcesses;
  #hasEnded = false;

  constructor(options: PythonProcessOptions) {
    this.#mark = options.mark;
    this.#marked = options.marked;
    this.#child = spawn(options.python, ['-X', 'utf8', '-u', START_SCRIPT], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
      ...(options.user && { uid: options.user.uid, gid: options.user.gid }),
      env: { ...options.env, [MARK_VARIABLE]: options.mark },
    });
    // `pipe` creates a bidirectional socket.
    this.#channel = this.#child.stdio[3] as Duplex;
    const end = (how: ProcessEnd): void => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      this.#channel.destroy();
      this.#endAll();
      options.onExit(how);
    };
    const reader = new FrameReader();
    this.#channel.on('data', (piece: Buffer) => {
      try {
        for (const frame of reader.push(piece)) options.onFrame(frame);
      } catch {
        // A plugin wrote to the descriptor. Later bytes cannot be parsed.
        this.kill();
      }
    });
    this.#channel.on('error', () => this.kill());
    eachLine(this.#child.stdout, options.onOutput);
    eachLine(this.#child.stderr, options.onOutput);
    this.#child.on('error', (error) => end({ kind: 'not_started', error }));
    this.#child.on('exit', (code, signal) => end({ kind: 'exited', code, signal }));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /**
   * Sends a frame; frames keep their order. Throws `FrameInvalid` if it exceeds the limit. Frames
   * to an ended process are dropped.
   */
  send(header: FrameHeader, body?: readonly Uint8Array[]): void {
    const pieces = encodeFrame(header, body);
    if (this.#hasEnded || !this.#channel.writable) return;
    this.#channel.cork();
    for (const piece of pieces) this.#channel.write(piece);
    this.#channel.uncork();
  }

  /** Kills the process and its child processes immediately. */
  kill(): void {
    if (!this.#hasEnded) this.#endAll();
  }

  /** Returns the number of its processes, including itself; 0 if they cannot be counted. */
  async countProcesses(): Promise<number> {
    return await this.#marked.count(this.#mark);
  }

  #endAll(): void {
    this.#signalGroup('SIGKILL');
    void this.#marked.end(this.#mark);
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The process group no longer exists.
    }
  }
}

function eachLine(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') onLine(line.slice(0, MAX_OUTPUT_LINE_BYTES));
    if (rest.length > MAX_OUTPUT_LINE_BYTES) {
      onLine(rest.slice(0, MAX_OUTPUT_LINE_BYTES));
      rest = '';
    }
  });
  stream?.on('end', () => {
    if (rest !== '') onLine(rest);
  });
}
