import { useEffect, useRef } from 'react';
import { Icon } from '../../components/controls/icon.js';
import { rowMark, useRovingRows } from '../../components/grid/use-roving-rows.js';
import { type ExploreSearch, titleOf } from './explore-search.js';
import type { Tab } from './hooks/use-tabs.js';

/** The query tabs that are open in this browser. */
export function TabBar(props: {
  readonly tabs: readonly Tab[];
  readonly closed: readonly Tab[];
  readonly active: string | undefined;
  readonly open: (content: ExploreSearch) => void;
  readonly choose: (id: string) => void;
  readonly close: (id: string) => void;
  readonly reopen: () => void;
}) {
  const { tabs, closed, active, open, choose, close, reopen } = props;
  const current = tabs.find(({ id }) => id === active)?.search ?? {};
  const { db = '', lang = 'sql', from = '', to = '' } = current;
  const list = useRef<HTMLDivElement>(null);
  const roving = useRovingRows({ count: 2 * tabs.length, isHorizontal: true });
  // biome-ignore lint/correctness/useExhaustiveDependencies: changes of the tab list scroll the active tab into view.
  useEffect(() => {
    const here = list.current?.querySelector('[data-active="true"]');
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [active, tabs.length, from, to]);
  return (
    <nav className="tab-bar" aria-label="Open queries">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the keys move between its buttons. */}
      <div
        className="tab-list"
        ref={(element) => {
          list.current = element;
          roving.box(element);
        }}
        onKeyDown={roving.onKeyDown}
        onFocus={roving.onFocus}
      >
        {tabs.map(({ id, search }, index) => (
          <span key={id} className="tab" data-active={id === active}>
            <span {...rowMark(2 * index)}>
              <button
                type="button"
                tabIndex={roving.tabIndexOf(2 * index)}
                className="tab-name"
                aria-current={id === active ? 'true' : undefined}
                title={search['q'] ?? 'New query'}
                onClick={() => choose(id)}
              >
                {titleOf(search)}
              </button>
            </span>
            <span {...rowMark(2 * index + 1)}>
              <button
                type="button"
                tabIndex={roving.tabIndexOf(2 * index + 1)}
                className="tab-close"
                aria-label={`Close ${titleOf(search)}`}
                onClick={() => close(id)}
              >
                <Icon name="close" size={11} />
              </button>
            </span>
          </span>
        ))}
      </div>
      <button
        type="button"
        className="button icon small quiet"
        aria-label="New query"
        title="New query"
        onClick={() => open({ db, lang, from, to })}
      >
        <Icon name="plus" size={14} />
      </button>
      {closed.length > 0 && (
        <button
          type="button"
          className="button icon small quiet"
          aria-label="Reopen closed query"
          title="Reopen closed query"
          onClick={reopen}
        >
          <Icon name="history" size={14} />
        </button>
      )}
    </nav>
  );
}
