import { Icon } from './icon.js';

export function DeleteButton(props: { readonly name: string; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      className="button icon small quiet"
      aria-label={`Delete ${props.name}`}
      onClick={props.onClick}
    >
      <Icon name="trash" size={14} />
    </button>
  );
}
