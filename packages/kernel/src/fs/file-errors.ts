/**
 * The system could not say whether written bytes are on stable storage. The kernel may have dropped them
 * and reported that only once, so a second sync that succeeds proves nothing: never sync this file again.
 */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed';
  readonly kind = 'sync_failed';
  readonly path: string;
  constructor(path: string, cause: unknown) {
    super(`sync failed: ${path}`, { cause });
    this.path = path;
  }
}
