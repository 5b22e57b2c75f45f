import type { ReactNode } from 'react';

/** A table that scrolls horizontally in a narrow window, by keyboard too. */
export function TableWrap({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section className="table-wrap" aria-label={label} tabIndex={0}>
      <table className="list">{children}</table>
    </section>
  );
}
