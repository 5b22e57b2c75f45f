/** Immutable named objects: segments and plugin files, without rename or append. Names are separated by `/`. */
export interface ObjectStore {
  /** Durable when it resolves. Throws `object_exists` if the name is in use. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  /** Moves a finished local file to `name`, with the guarantees of `put`. */
  adopt(name: string, localPath: string): Promise<void>;
  /** Reads the bytes `[start, end)` or the complete object; throws `object_not_found`. */
  get(name: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads several ranges of one object, in order; a range beyond the end is shorter. */
  getRanges(
    name: string,
    ranges: readonly ByteRange[],
  ): Promise<readonly Uint8Array<ArrayBuffer>[]>;
  list(prefix: string): Promise<readonly ObjectInfo[]>;
  /** Succeeds for a missing object. */
  delete(name: string): Promise<void>;
  /** The path under which DuckDB can read the object in place. */
  localPath(name: string): string;
}

/** Bytes `[start, end)`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ObjectInfo {
  readonly name: string;
  readonly sizeBytes: number;
}
