export interface ImageFile {
  readonly path: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** Image files of records. */
export interface Images {
  /**
   * Returns `undefined` for a missing file or a symbolic link.
   * @param name for example `items/bandage.webp`.
   */
  find(name: string): Promise<ImageFile | undefined>;
  /** Streams the bytes of a file. Throws if the file was replaced in the meantime. */
  read(file: ImageFile): AsyncGenerator<Buffer, void, undefined>;
}
