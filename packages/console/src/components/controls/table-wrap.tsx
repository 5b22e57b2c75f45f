import type { ReactNode } from 'react';

/** A table that scrolls by itself where the window is narrower, by keys as well. */
export function TableWrap({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys.
    <section className="table-wrap" aria-label={label} tabIndex={0}>
      <table className="list">{children}</table>
    </section>
  );
}
