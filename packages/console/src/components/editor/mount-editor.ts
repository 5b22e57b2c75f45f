import { closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension, Prec } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The page's state, read whenever the editor needs it. */
export interface EditorDeps {
  readonly label: string;
  readonly text: string;
  /** Returns the position and message of an error in the text. */
  problem(): { readonly position: number; readonly message: string } | undefined;
  onChange(text: string): void;
  onRun(): void;
  onSave?(): void;
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

export type MountEditor = (root: ShadowRoot, deps: EditorDeps) => MountedEditor;

/**
 * Mounts an editor in a shadow root. Its styles are style sheets there; the page's CSP would block
 * style elements.
 * @param language the extensions for the language of the text.
 */
export function mountEditor(
  root: ShadowRoot,
  deps: EditorDeps,
  language: readonly Extension[],
): MountedEditor {
  const run = (act: (() => void) | undefined) => (): boolean => {
    act?.();
    return act !== undefined;
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: deps.text,
      extensions: [
        Prec.highest(
          keymap.of([
            { key: 'Mod-Enter', run: run(deps.onRun) },
            { key: 'Mod-s', run: run(deps.onSave) },
          ]),
        ),
        ...[lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets()],
        ...[highlightActiveLine(), EditorView.lineWrapping],
        ...language,
        syntaxHighlighting(COLOURS),
        keymap.of([...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': deps.label }),
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
