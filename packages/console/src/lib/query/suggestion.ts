/** What completion offers. */
export interface Suggestion {
  readonly label: string;
  /** What is put in, where it is not the label. */
  readonly apply?: string;
  readonly kind: 'tag' | 'field' | 'time' | 'table' | 'function' | 'keyword' | 'macro';
  readonly detail?: string;
}
