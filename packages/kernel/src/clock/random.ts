/** The only source of randomness. Tests use a seeded one. */
export interface Random {
  bytes(sizeBytes: number): Uint8Array;
  /** Uniform in [0, 1). */
  float(): number;
  uuidV4(): string;
  /** Time-ordered: later ids sort later, even within one millisecond. */
  uuidV7(): string;
}
