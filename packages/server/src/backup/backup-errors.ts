export class BackupNotFound extends Error {
  override readonly name = 'BackupNotFound';
  readonly kind = 'backup_not_found';
  constructor() {
    super(
      'there is no such backup, or no such file in it; a backup ends with the answer that began it',
    );
  }
}

export class TooManyBackups extends Error {
  override readonly name = 'TooManyBackups';
  readonly kind = 'too_many_backups';
  constructor() {
    super('other backups are being read; retry when they are done');
  }
}
