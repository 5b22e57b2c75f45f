/** The only source of chance. Tests use a seeded one. */
export interface Random {
  bytes(sizeBytes: number): Uint8Array;
  /** Uniform in [0, 1). */
  float(): number;
  uuidV4(): string;
  /** Time-ordered: ids made later sort later, within one millisecond, too. */
  uuidV7(): string;
}
