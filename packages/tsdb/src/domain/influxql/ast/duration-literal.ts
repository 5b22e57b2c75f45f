/** Nanoseconds; `1h30m`. */
export interface DurationLiteral {
  readonly kind: 'duration';
  readonly ns: bigint;
}
