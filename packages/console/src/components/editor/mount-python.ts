import { python } from '@codemirror/lang-python';
import { indentUnit } from '@codemirror/language';
import { type MountEditor, mountEditor } from './mount-editor.js';

/** Mounts an editor for plugins. Tab leaves it, so that the keyboard reaches the rest of the page. */
export const mountPython: MountEditor = (root, deps) =>
  mountEditor(root, deps, [python(), indentUnit.of('    ')]);
