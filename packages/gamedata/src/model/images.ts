export interface ImageFile {
  readonly path: string;
  readonly type: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/** Pictures beside the data. */
export interface Images {
  /** @param name as `items/bandage.webp`. `undefined`: there is no such file, or a link leads to it. */
  find(name: string): Promise<ImageFile | undefined>;
  /** The bytes of a file that was found, piece by piece. Throws when it is another one by now. */
  read(file: ImageFile): AsyncGenerator<Buffer, void, undefined>;
}
