import type { Dimension } from './dimension.js';
import type { Expr } from './expr.js';
import type { Field } from './field.js';
import type { Fill } from './fill.js';
import type { Measurement } from './measurement.js';
import type { Subquery } from './subquery.js';

export type Source = Measurement | Subquery;

export interface SelectStatement {
  readonly kind: 'select';
  readonly fields: readonly Field[];
  /** Where the rows go instead of to the client; a name of `:MEASUREMENT` keeps each row's own. */
  readonly into?: Measurement;
  readonly sources: readonly Source[];
  readonly condition?: Expr;
  readonly dimensions: readonly Dimension[];
  readonly fill?: Fill;
  /** `undefined`: the statement does not say. */
  readonly order?: 'ASC' | 'DESC';
  readonly limit?: number;
  readonly offset?: number;
  readonly seriesLimit?: number;
  readonly seriesOffset?: number;
  readonly zone?: string;
}
