import { Memo } from '@plinth/kernel';

/** Far more than rules name; paths with positions in lists could be without end. */
const MAX_KNOWN_PATHS = 2000;
/** Paths that rules have asked for, in parts; rules ask for the same ones at every request. */
const KNOWN_PATHS = new Memo<string, readonly string[]>({ maxCount: MAX_KNOWN_PATHS });

/** Asks which fields a request speaks of, by dotted paths in the notation of requests. */
export class Provided {
  readonly #given: unknown;

  constructor(given: unknown) {
    this.#given = given;
  }

  /**
   * Whether the request says something at `path`, below it, or unsets something above it. A list is replaced whole,
   * so sending it touches every path in it.
   */
  has(path: string): boolean {
    let value = this.#given;
    for (const part of partsOf(path)) {
      if (value === null || Array.isArray(value)) return true;
      if (typeof value !== 'object' || value === undefined) return false;
      if (!Object.hasOwn(value, part)) return false;
      value = Reflect.get(value, part);
    }
    return value !== undefined;
  }

  hasAny(paths: readonly string[]): boolean {
    return paths.some((path) => this.has(path));
  }
}

const partsOf = (path: string): readonly string[] => KNOWN_PATHS.of(path, splitPath);

const splitPath = (path: string): readonly string[] => path.split('.');
