import type { ColumnKind } from '@plinth/tsdb-model/columns/column.js';
import { renamedHint, type TsdbError, tsdbError } from '@plinth/tsdb-model/errors.js';
import type { SqlType } from '@plinth/tsdb-model/sql-type.js';
import type { ExprTree, Lazy } from '../plan-tree.js';
import type { ScanDraft } from './scan-draft.js';

/** A column that expressions may name. */
export interface ScopeColumn {
  readonly name: string;
  /** Name of its relation, for messages and display names. */
  readonly qualifier: string | undefined;
  readonly type: SqlType;
  readonly text: string;
  /** See `BoundExpr`. */
  readonly tree?: Lazy<ExprTree> | undefined;
  /** See `OutputColumn`; the table column itself is `origin`. */
  readonly tableColumnKind: ColumnKind | undefined;
  /**
   * The base-table column that is passed through unchanged, if conditions on it may narrow that
   * scan.
   */
  readonly origin?: { readonly scan: ScanDraft; readonly column: string };
  /** Marks the column as read in its scan. */
  use(): void;
}

export interface Relation {
  /** Allowed qualifiers, from the outermost: `['public', 'iox', 'cpu']` or `['alias']`. */
  readonly path: readonly string[];
  readonly columns: readonly ScopeColumn[];
  /** Columns that can be named but are not part of `*`. */
  readonly hidden?: readonly ScopeColumn[];
  /** See `TableSchema`, for messages. */
  readonly formerColumns?: ReadonlyMap<string, string>;
}

/**
 * The names visible at one query level. `parent` is the enclosing level, for correlated subqueries.
 */
export class Scope {
  readonly relations: readonly Relation[];
  /** Columns of `*`, in order: the columns of all relations, with each USING column once. */
  readonly visible: readonly ScopeColumn[];
  readonly parent: Scope | undefined;
  #byName: Map<string, readonly ScopeColumn[]> | undefined;

  constructor(options: {
    readonly relations: readonly Relation[];
    readonly visible: readonly ScopeColumn[];
    readonly parent: Scope | undefined;
  }) {
    this.relations = options.relations;
    this.visible = options.visible;
    this.parent = options.parent;
  }

  /**
   * Returns the column that an unqualified name refers to at this level, or `undefined`. Throws for
   * an ambiguous name.
   */
  find(name: string): ScopeColumn | undefined {
    const found = this.#named(name);
    if (found.length > 1) {
      throw tsdbError(
        'plan_error',
        `Schema error: Ambiguous reference to unqualified field ${name}`,
      );
    }
    return found[0];
  }

  findQualified(path: readonly string[], name: string): ScopeColumn | undefined {
    for (const relation of this.relations) {
      if (!endsWith(relation.path, path)) continue;
      const isIt = (candidate: ScopeColumn): boolean => candidate.name === name;
      const column = relation.columns.find(isIt) ?? relation.hidden?.find(isIt);
      if (column !== undefined) return column;
    }
    return undefined;
  }

  relation(path: readonly string[]): Relation | undefined {
    return this.relations.find((candidate) => endsWith(candidate.path, path));
  }

  /** @param name the last part of the name, without quotes. */
  unknownColumn(shown: string, name: string): TsdbError<'plan_error'> {
    const valid = this.visible.map((column) =>
      column.qualifier === undefined ? column.name : `${column.qualifier}.${column.name}`,
    );
    const help = valid.length === 0 ? '' : ` Valid fields are ${valid.join(', ')}.`;
    const hint = renamedHint(presentName(this, name));
    return tsdbError('plan_error', `Schema error: No field named ${shown}${hint}.${help}`);
  }

  #named(name: string): readonly ScopeColumn[] {
    if (this.#byName === undefined) {
      this.#byName = new Map();
      for (const column of this.visible) {
        this.#byName.set(column.name, [...(this.#byName.get(column.name) ?? []), column]);
      }
    }
    return (
      this.#byName.get(name) ??
      this.relations.flatMap(({ hidden = [] }) => hidden.filter((column) => column.name === name))
    );
  }
}

/** Returns the current name of a renamed column of this level or an enclosing one. */
function presentName({ relations, parent }: Scope, name: string): string | undefined {
  const present = relations.map(({ formerColumns }) => formerColumns?.get(name));
  const found = present.find((each) => each !== undefined);
  return found ?? (parent && presentName(parent, name));
}

function endsWith(path: readonly string[], tail: readonly string[]): boolean {
  const skipped = path.length - tail.length;
  return skipped >= 0 && tail.every((part, index) => path[skipped + index] === part);
}
