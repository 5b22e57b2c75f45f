import { type SqlType, valueType } from '@plinth/tsdb-model/sql-type.js';
import { UTF8 } from './bind/types/bound.js';
import { unionType } from './bind/types/common-type.js';

/** Collects the types in which a statement uses its parameters. */
export class ParameterTypes {
  readonly #types = new Map<string, SqlType>();

  /**
   * Records a use. A parameter with several uses has their common type, or text if there is none.
   */
  note(name: string, type: SqlType): void {
    const before = this.#types.get(name);
    const fitting = before === undefined ? type : (unionType([before, type], false) ?? UTF8);
    this.#types.set(name, valueType(fitting));
  }

  get all(): ReadonlyMap<string, SqlType> {
    return this.#types;
  }
}
