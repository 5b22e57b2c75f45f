import { type SqlType, valueType } from '../../model/sql-type.js';
import { UTF8 } from './bind/types/bound.js';
import { unionType } from './bind/types/common-type.js';

/** Gathers the types in which a statement takes its parameters. */
export class ParameterTypes {
  readonly #types = new Map<string, SqlType>();

  /** A parameter that stands in several places is of a type that fits all of them; where there is none, of text. */
  note(name: string, type: SqlType): void {
    const before = this.#types.get(name);
    const fitting = before === undefined ? type : (unionType([before, type], false) ?? UTF8);
    this.#types.set(name, valueType(fitting));
  }

  get all(): ReadonlyMap<string, SqlType> {
    return this.#types;
  }
}
