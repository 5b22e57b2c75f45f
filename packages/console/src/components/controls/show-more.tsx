/** Loads the next page of a list, if there is one. */
export function ShowMore(props: {
  readonly pages: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = props.pages;
  if (!hasNextPage) return null;
  return (
    <button
      type="button"
      className="button small"
      disabled={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      Show more
    </button>
  );
}
