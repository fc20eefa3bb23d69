export type BackupErrorCode =
  /** What was given is no backup. */
  | 'not_a_backup'
  /** It is a backup, and not the bytes that were written: cut off, changed, or with something added. */
  | 'damaged_backup'
  /** A newer version wrote it. */
  | 'newer_backup'
  /** The folder to restore into holds something. */
  | 'not_empty'
  /** A server, or another program, has the folder's database open. */
  | 'in_use'
  /** The data that is to be backed up is not whole. */
  | 'damaged_data';

/** Why there is no backup, or nothing was restored. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
