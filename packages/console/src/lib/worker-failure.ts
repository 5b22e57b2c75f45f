/** A worker, or what it asked, has failed. */
export interface WorkerFailure {
  readonly kind: 'failed';
  readonly id: number;
  /** 0: there was no answer. */
  readonly status: number;
  readonly message: string;
}
