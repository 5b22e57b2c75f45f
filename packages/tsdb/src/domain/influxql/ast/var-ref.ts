/** What `::` may name behind a reference. */
export type CastType = 'float' | 'integer' | 'unsigned' | 'string' | 'boolean' | 'tag' | 'field';

/** A column by name. */
export interface VarRef {
  readonly kind: 'var_ref';
  readonly name: string;
  readonly cast?: CastType;
}
