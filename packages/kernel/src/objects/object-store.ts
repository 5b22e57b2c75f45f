/** Immutable named objects: segments and metadata of published tables, without rename or append. Names are separated by `/`. */
export interface ObjectStore {
  /** Durable when it resolves. Throws `object_exists` if the name is in use. */
  put(name: string, parts: readonly Uint8Array[]): Promise<void>;
  /** Reads the bytes `[start, end)` or the complete object; throws `object_not_found`. */
  get(name: string, range?: ByteRange): Promise<Uint8Array<ArrayBuffer>>;
  /** Reads several ranges of one object, in order; a range beyond the end is shorter. */
  getRanges(
    name: string,
    ranges: readonly ByteRange[],
  ): Promise<readonly Uint8Array<ArrayBuffer>[]>;
  list(prefix: string): Promise<readonly ObjectInfo[]>;
  /** Deletes an object; succeeds if it is missing. */
  delete(name: string): Promise<void>;
}

/** Objects that are files of this machine. */
export interface FolderObjectStore extends ObjectStore {
  /** Moves a finished local file to `name`, with the guarantees of `put`. */
  adopt(name: string, localPath: string): Promise<void>;
  /** Returns the path under which DuckDB can read the object in place. */
  localPath(name: string): string;
}

/** Objects on other machines. All calls throw `StoreOutage` while the store is unavailable. */
export interface BucketStore extends ObjectStore {
  /** Prefix of all object names, as readers on other machines address them: `s3://bucket/prefix`. */
  readonly root: string;
  /** Properties that Iceberg readers need to find the bucket. Contains no credentials. */
  readonly readerProperties: Readonly<Record<string, string>>;
  /** Like `put`, for content that is too large for memory. Returns if the object exists with the same content. */
  upload(name: string, content: UploadContent): Promise<void>;
  /** Aborts all requests, which then throw `StoreOutage`. */
  close(): void;
}

/** The content of an object whose size and checksum are known. */
export interface UploadContent {
  readonly sizeBytes: number;
  /** CRC32C. A store that checks it rejects other bytes. */
  readonly checksum: number;
  /** Called for each attempt. */
  read(): AsyncIterable<Uint8Array>;
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
