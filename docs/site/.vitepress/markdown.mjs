import path from 'node:path';

/** Marks for the test of the pages are no part of their text. */
export function withoutComments(markdown) {
  markdown.core.ruler.before('normalize', 'without_comments', (state) => {
    state.src = state.src.replaceAll(/^<!-- .*? ?-->$/gms, '');
  });
}

/** Shows `[ ]` at the start of a list item as an empty checkbox, as GitHub does. */
export function withCheckboxes(markdown) {
  markdown.core.ruler.push('with_checkboxes', ({ tokens }) => {
    for (const [index, { type, children }] of tokens.entries()) {
      const text = children?.[0];
      if (type !== 'inline' || tokens[index - 2]?.type !== 'list_item_open') continue;
      if (text?.content.startsWith('[ ] ')) text.content = `\u2610 ${text.content.slice(4)}`;
    }
  });
}

/** Takes away links to files of the repository that are no page of the site; their text stays. */
export function withoutDeadEnds(markdown) {
  markdown.core.ruler.push('without_dead_ends', ({ tokens, env }) => {
    const folder = path.posix.dirname(env.relativePath ?? '');
    for (const { children } of tokens) {
      if (!children) continue;
      const dead = [];
      for (const [index, token] of children.entries()) {
        const isOpen = token.type === 'link_open';
        if (!isOpen && token.type !== 'link_close') continue;
        if (isOpen) dead.push(isDeadEnd(token.attrGet('href') ?? '', folder));
        const isDead = isOpen ? dead.at(-1) : dead.pop();
        if (isDead)
          children[index] = Object.assign(new token.constructor('text', '', 0), { content: '' });
      }
    }
  });
}

function isDeadEnd(href, folder) {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return false;
  const target = path.posix.join(folder, href.replace(/#.*/, ''));
  return target.startsWith('..') || !/\.(?:md|json)$/.test(target);
}
