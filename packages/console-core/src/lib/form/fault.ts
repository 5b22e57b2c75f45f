/** A fault that the server found in a record. */
export interface Fault {
  readonly type?: string;
  readonly id?: string;
  /** JSON Pointer. */
  readonly path?: string;
  readonly message: string;
}
