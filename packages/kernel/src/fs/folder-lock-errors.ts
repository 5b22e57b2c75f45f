/** Another server or command holds the folder. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly kind = 'folder_in_use';
  constructor(folder: string, owner: string | undefined) {
    const who = owner === undefined ? 'another process' : `another process (${owner})`;
    super(
      `the folder ${folder} is in use by ${who}; stop it and wait until it has ended, or name another folder`,
    );
  }
}

/** Whether somebody holds the folder cannot be told. */
export class FolderNotLocked extends Error {
  override readonly name = 'FolderNotLocked';
  readonly kind = 'folder_not_locked';
  /** @param obstacle what the system says, if it says anything. */
  constructor(folder: string, cause: unknown, obstacle?: string) {
    const why = obstacle ?? (cause instanceof Error ? cause.message : String(cause));
    super(
      `the folder ${folder} cannot be locked: ${why}; this process must be allowed to write there, and the file system must know locks`,
      { cause },
    );
  }
}
