import {
  acceptCompletion,
  autocompletion,
  type CompletionResult,
  completionKeymap,
  type CompletionContext as EditorContext,
} from '@codemirror/autocomplete';
import { StandardSQL, sql } from '@codemirror/lang-sql';
import { Prec } from '@codemirror/state';
import { keymap, placeholder } from '@codemirror/view';
import {
  contextAt,
  type SchemaTable,
  suggestionsFor,
} from '@plinth/console-core/lib/query/completion.js';
import { quoteText } from '@plinth/console-core/lib/query/identifiers.js';
import type { Language } from '@plinth/console-core/lib/query/macros.js';
import type { Suggestion } from '@plinth/console-core/lib/query/suggestion.js';
import { type EditorDeps, type MountedEditor, mountEditor } from './mount-editor.js';

/** The page's state for completions. */
export interface QueryDeps {
  language(): Language;
  schema(): readonly SchemaTable[];
  tagValues(table: string, tag: string, typed: string): Promise<readonly string[]>;
}

/** Mounts an editor for SQL and InfluxQL. */
export const mountQuery = (root: ShadowRoot, deps: EditorDeps, query: QueryDeps): MountedEditor =>
  mountEditor(root, deps, [
    Prec.highest(keymap.of([{ key: 'Tab', run: acceptCompletion }])),
    sql({ dialect: StandardSQL }),
    StandardSQL.language.data.of({ autocomplete: undefined }),
    autocompletion({ override: [(context) => complete(context, query)], icons: false }),
    placeholder('SELECT … — Ctrl+Space completes, Ctrl+Enter runs'),
    keymap.of(completionKeymap),
  ]);

async function complete(context: EditorContext, deps: QueryDeps): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const found = contextAt(text, context.pos);
  if (found === undefined) return null;
  if (found.kind === 'value') {
    const typed = text.slice(found.from + 1, context.pos);
    const [table = ''] = found.tables;
    const values = await deps.tagValues(table, found.tag, typed).catch(() => []);
    if (context.aborted) return null;
    const after = text.slice(context.pos, context.pos + 1);
    const to = after === "'" ? context.pos + 1 : context.pos;
    return {
      ...{ from: found.from, to, filter: false },
      options: values.map((value) => ({
        label: quoteText(value, deps.language()),
        type: 'value',
        detail: found.tag,
      })),
    };
  }
  if (found.kind === 'word' && found.from === context.pos && !context.explicit) return null;
  const list = suggestionsFor(found, { language: deps.language(), schema: deps.schema() });
  const isQuoted = text[found.from] === '"';
  return {
    from: found.from,
    options: list.map((each, index) => optionOf(each, list.length - index, isQuoted)),
    validFor: /^["\w${.-]*$/,
  };
}

const optionOf = (suggestion: Suggestion, boost: number, isQuoted: boolean) => {
  const { label, apply = label, kind, detail } = suggestion;
  const quoted = isQuoted && !apply.startsWith('"') ? `"${label}"` : apply;
  return {
    label: isQuoted ? `"${label}"` : label,
    displayLabel: label,
    apply: quoted,
    type: kind,
    ...(detail !== undefined && { detail: detail === kind ? kind : detail }),
    boost: Math.min(99, boost / 10),
  };
};
