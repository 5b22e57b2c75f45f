/** A completion suggestion. */
export interface Suggestion {
  readonly label: string;
  /** The inserted text, when it differs from the label. */
  readonly apply?: string;
  readonly kind: 'tag' | 'field' | 'time' | 'table' | 'function' | 'keyword' | 'macro';
  readonly detail?: string;
}
