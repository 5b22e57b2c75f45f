/** A failure of a worker or of its request to the server. */
export interface WorkerFailure {
  readonly kind: 'failed';
  readonly id: number;
  /** 0 when the server did not respond. */
  readonly status: number;
  readonly message: string;
}
