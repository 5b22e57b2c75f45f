/** A log line, parsed. */
export interface RingLine {
  /** The number of the line in this process, from 1. */
  readonly seq: number;
  readonly time: string;
  readonly level: string;
  readonly service: string | undefined;
  readonly message: string;
  /** All other fields of the line. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LineFilter {
  /** The minimum level. */
  readonly level?: string | undefined;
  readonly service?: string | undefined;
  /** Text to find in the line, case-insensitive. */
  readonly find?: string | undefined;
  /** Only lines with a higher number. */
  readonly after?: number | undefined;
  /** The maximum number of lines; the newest are returned. */
  readonly limit: number;
}

const MAX_LINE_COUNT = 10_000;
/** The maximum length of one line, enough for a stack with causes. */
const MAX_LINE_LENGTH = 16_384;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** The last log lines of the process, for operators without access to its output. The lines are redacted like the output. */
export class LogRing {
  readonly #lines: string[] = [];
  readonly #watchers = new Set<(line: RingLine) => void>();
  #count = 0;

  add(line: string): void {
    const text = line.slice(0, MAX_LINE_LENGTH);
    this.#lines[this.#count % MAX_LINE_COUNT] = text;
    this.#count += 1;
    if (this.#watchers.size === 0) return;
    const parsed = parse(this.#count, text);
    for (const watch of this.#watchers) watch(parsed);
  }

  watch(notify: (line: RingLine) => void): Disposable {
    this.#watchers.add(notify);
    return { [Symbol.dispose]: () => void this.#watchers.delete(notify) };
  }

  /** The number of the last line. */
  get lastSeq(): number {
    return this.#count;
  }

  /** The number of the oldest line in the ring; 1 until lines are dropped. */
  get firstSeq(): number {
    return Math.max(1, this.#count - MAX_LINE_COUNT + 1);
  }

  /** Newest first. */
  find({ level, service, find = '', after = 0, limit }: LineFilter): readonly RingLine[] {
    const found: RingLine[] = [];
    const least = level === undefined ? 0 : LEVELS.indexOf(level);
    const searchText = find.toLowerCase();
    const end = Math.max(after, this.firstSeq - 1);
    for (let seq = this.#count; seq > end && found.length < limit; seq--) {
      const text = this.#lines[(seq - 1) % MAX_LINE_COUNT] ?? '';
      if (searchText !== '' && !text.toLowerCase().includes(searchText)) continue;
      const line = parse(seq, text);
      if (LEVELS.indexOf(line.level) < least) continue;
      if (service === undefined || line.service === service) found.push(line);
    }
    return found;
  }
}

function parse(seq: number, text: string): RingLine {
  try {
    const { time, level, msg, service, ...fields } = JSON.parse(text);
    return {
      seq,
      time: String(time),
      level: String(level),
      service: service === undefined ? undefined : String(service),
      message: String(msg ?? ''),
      fields,
    };
  } catch {
    return { seq, time: '', level: 'info', service: undefined, message: text.trim(), fields: {} };
  }
}
