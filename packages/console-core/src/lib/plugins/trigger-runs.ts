/** The members of a log line that the functions below read. */
interface Line {
  readonly event_time: string;
  readonly log_level: string;
  readonly log_text: string;
}

/** One run of a trigger, reconstructed from the stored log lines. */
export interface TriggerRun {
  readonly startedAt: string;
  readonly result: 'running' | 'succeeded' | 'failed';
  /** The duration or the error. */
  readonly text: string;
  /** The lines that the plugin logged. */
  readonly lines: readonly Line[];
}

const START = /^starting execution (?:of|with) /;
const END = /^finished execution in (.*)$/;
const FAILURE = /^error (?:executing|running) (?:wal|schedule|request) plugin: ([\s\S]*)$/;

/**
 * Groups the log lines of one trigger into runs. Runs that overlap share their lines.
 * @param lines newest first, as the log lists them.
 * @returns the runs, newest first.
 */
export function runsOf(lines: readonly Line[]): readonly TriggerRun[] {
  const runs: TriggerRun[] = [];
  let open: { readonly startedAt: string; readonly lines: Line[] } | undefined;
  const close = (result: TriggerRun['result'], text: string, at: string): void => {
    runs.push({ startedAt: open?.startedAt ?? at, result, text, lines: open?.lines ?? [] });
    open = undefined;
  };
  for (const line of [...lines].reverse()) {
    const { event_time: at, log_text: text } = line;
    const duration = END.exec(text)?.[1];
    const failure = FAILURE.exec(text)?.[1];
    if (START.test(text)) {
      if (open !== undefined) close('running', '', at);
      open = { startedAt: at, lines: [] };
    } else if (duration !== undefined) close('succeeded', shortDuration(duration), at);
    else if (failure !== undefined) close('failed', failure, at);
    else open?.lines.push(line);
  }
  if (open !== undefined) close('running', '', open.startedAt);
  return runs.reverse();
}

/** Returns the duration in a string that ends with the last line of a run; otherwise `undefined`. */
export function runDuration(text: string): string | undefined {
  const [, duration] = /finished execution in (.*)$/.exec(text) ?? [];
  return duration && shortDuration(duration);
}

/** Returns the two largest units of `12ms 345us 678ns`. */
const shortDuration = (text: string): string => text.split(' ').slice(0, 2).join(' ');

/** Returns the position of a Python error in the code; `undefined` if the error names no line. */
export function errorPosition(code: string, error: string): number | undefined {
  const line = Number(/\bline (\d+)/.exec(error)?.[1] ?? 0);
  const lines = code.split('\n');
  if (line < 1 || line > lines.length) return undefined;
  return lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
}
