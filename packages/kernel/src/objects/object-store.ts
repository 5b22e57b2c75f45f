/** Immutable named objects: segments and plugin files. No rename, no append. Names are `/`-separated. */
export interface ObjectStore {
  /** Durable when it resolves; fails with `object_exists` when the name is taken. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  /** Adopts a finished local file under `name` (same guarantees as `put`); the file is gone afterwards. */
  adopt(name: string, localPath: string): Promise<void>;
  /** Bytes `[start, end)` or the whole object; fails with `object_not_found`. */
  get(name: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>>;
  /** Several pieces of one object, in their order; shorter where it ends. */
  getRanges(
    name: string,
    ranges: readonly ByteRange[],
  ): Promise<readonly Uint8Array<ArrayBuffer>[]>;
  list(prefix: string): Promise<readonly ObjectInfo[]>;
  /** A missing object is no error. */
  delete(name: string): Promise<void>;
  /** Path under which the engine can read the object in place. */
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
