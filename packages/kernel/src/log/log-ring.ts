/** A finished line of the log, taken apart. */
export interface RingLine {
  /** Counts all lines of the process, from 1. */
  readonly seq: number;
  readonly time: string;
  readonly level: string;
  readonly service: string | undefined;
  readonly message: string;
  /** What else the line says. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface LineFilter {
  /** The least severe that is wanted. */
  readonly level?: string | undefined;
  readonly service?: string | undefined;
  /** Part of the line, in any case of letters. */
  readonly find?: string | undefined;
  /** Only later ones. */
  readonly after?: number | undefined;
  /** The newest of them. */
  readonly limit: number;
}

const MAX_LINE_COUNT = 10_000;
/** Of one line: a stack and what caused it. */
const MAX_LINE_LENGTH = 16_384;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** The last lines of the process, for whoever cannot read its output. They are redacted like those. */
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

  /** Tells of each line from here on. */
  watch(notify: (line: RingLine) => void): Disposable {
    this.#watchers.add(notify);
    return { [Symbol.dispose]: () => void this.#watchers.delete(notify) };
  }

  /** Of all lines that there were. */
  get lastSeq(): number {
    return this.#count;
  }

  /** The oldest that is still kept; 1 as long as all are. */
  get firstSeq(): number {
    return Math.max(1, this.#count - MAX_LINE_COUNT + 1);
  }

  /** Newest first. */
  find({ level, service, find = '', after = 0, limit }: LineFilter): readonly RingLine[] {
    const found: RingLine[] = [];
    const least = level === undefined ? 0 : LEVELS.indexOf(level);
    const wanted = find.toLowerCase();
    const end = Math.max(after, this.firstSeq - 1);
    for (let seq = this.#count; seq > end && found.length < limit; seq--) {
      const text = this.#lines[(seq - 1) % MAX_LINE_COUNT] ?? '';
      if (wanted !== '' && !text.toLowerCase().includes(wanted)) continue;
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
