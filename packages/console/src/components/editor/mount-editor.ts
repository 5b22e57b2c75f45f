import {
  acceptCompletion,
  autocompletion,
  type CompletionResult,
  closeBrackets,
  completionKeymap,
  type CompletionContext as EditorContext,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { StandardSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { contextAt, type SchemaTable, suggestionsFor } from '../../lib/query/completion.js';
import { quoteText } from '../../lib/query/identifiers.js';
import type { Language } from '../../lib/query/macros.js';
import type { Suggestion } from '../../lib/query/suggestion.js';

/** The page's state, read whenever the editor needs it. */
export interface EditorDeps {
  readonly text: string;
  language(): Language;
  schema(): readonly SchemaTable[];
  tagValues(table: string, tag: string, typed: string): Promise<readonly string[]>;
  /** The position and message of the server's error. */
  problem(): { readonly position: number; readonly message: string } | undefined;
  onChange(text: string): void;
  onRun(): void;
}

export interface MountedEditor {
  setText(text: string): void;
  insert(text: string): void;
  focus(): void;
  showProblem(): void;
  readonly selection: { readonly from: number; readonly to: number };
  select(from: number, to: number): void;
  destroy(): void;
}

/** Mounts the editor in a shadow root. Its styles are style sheets there; the page's CSP would block style elements. */
export function mountEditor(root: ShadowRoot, deps: EditorDeps): MountedEditor {
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: deps.text,
      extensions: [
        Prec.highest(
          keymap.of([
            {
              key: 'Mod-Enter',
              run() {
                deps.onRun();
                return true;
              },
            },
            { key: 'Tab', run: acceptCompletion },
          ]),
        ),
        ...[lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets()],
        ...[highlightActiveLine(), EditorView.lineWrapping],
        sql({ dialect: StandardSQL }),
        StandardSQL.language.data.of({ autocomplete: undefined }),
        syntaxHighlighting(COLOURS),
        autocompletion({ override: [(context) => complete(context, deps)], icons: false }),
        placeholder('SELECT … — Ctrl+Space completes, Ctrl+Enter runs'),
        keymap.of([...completionKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': 'Query' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) deps.onChange(update.state.doc.toString());
        }),
        LOOK,
      ],
    }),
  });
  return {
    setText(text) {
      const { doc } = view.state;
      if (doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    focus: () => view.focus(),
    showProblem() {
      const found = diagnosticsOf(deps, view.state.doc.length);
      view.dispatch(setDiagnostics(view.state, found));
    },
    get selection() {
      return view.state.selection.main;
    },
    select: (from, to) => view.dispatch({ selection: { anchor: from, head: to } }),
    destroy: () => view.destroy(),
  };
}

async function complete(
  context: EditorContext,
  deps: EditorDeps,
): Promise<CompletionResult | null> {
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

function diagnosticsOf(deps: EditorDeps, length: number) {
  const problem = deps.problem();
  if (problem === undefined) return [];
  const from = Math.max(0, Math.min(length, problem.position));
  const to = Math.min(length, from + 1);
  return [
    {
      from: from === to ? Math.max(0, from - 1) : from,
      to,
      severity: 'error' as const,
      message: problem.message,
    },
  ];
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--syntax-key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--syntax-text)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--syntax-number)' },
  { tag: tags.comment, color: 'var(--ink-soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--syntax-name)' },
]);

const LOOK = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', background: 'var(--surface)', fontSize: '13px' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-placeholder': { color: 'var(--ink-soft)' },
  // Elements with their own background would cover the focus ring of the editor.
  '.cm-gutters': { background: 'transparent', color: 'var(--ink-soft)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { background: 'transparent' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground':
    {
      background: 'var(--accent-soft)',
    },
  '.cm-matchingBracket': { background: 'var(--accent-soft)', outline: '0' },
  '.cm-tooltip': {
    background: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '240px' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', lineHeight: '1.5' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent-soft)',
    color: 'var(--ink)',
  },
  '.cm-completionDetail': { color: 'var(--ink-soft)', fontStyle: 'normal', fontSize: '12px' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
});
