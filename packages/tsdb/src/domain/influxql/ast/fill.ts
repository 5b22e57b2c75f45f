/** What stands in an empty bucket. `undefined` where a statement says nothing. */
export type Fill =
  | { readonly kind: 'null' }
  | { readonly kind: 'none' }
  | { readonly kind: 'previous' }
  | { readonly kind: 'linear' }
  | { readonly kind: 'number'; readonly value: number | bigint };
