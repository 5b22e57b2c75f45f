import { Memo } from '@plinth/kernel';

/**
 * Maximum number of cached paths, far above the number of paths in rules. The number of paths with
 * list indexes is unbounded.
 */
const MAX_KNOWN_PATHS = 2000;
/** Cache of split paths, because rules check the same paths in every request. */
const KNOWN_PATHS = new Memo<string, readonly string[]>({ maxCount: MAX_KNOWN_PATHS });

/** Checks which fields a request sets or unsets, by dotted paths in request notation. */
export class ProvidedFields {
  readonly #requestFields: unknown;

  constructor(requestFields: unknown) {
    this.#requestFields = requestFields;
  }

  /**
   * Whether the request provides `path` or a path below it, or unsets a parent. A list is replaced
   * completely, so sending it provides every path in it.
   */
  has(path: string): boolean {
    let value = this.#requestFields;
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
