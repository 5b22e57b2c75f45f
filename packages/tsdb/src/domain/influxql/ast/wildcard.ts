/** `*`, `*::tag`, `*::field`. */
export interface Wildcard {
  readonly kind: 'wildcard';
  readonly of?: 'tag' | 'field';
}
