import { type VNode } from 'preact';

interface SegmentedProps<T extends string | number> {
  readonly name: string;
  readonly legend: string;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly value: T;
  readonly choose: (value: T) => void;
}

/** A choice of one option, as a row of radio buttons. */
export function Segmented<T extends string | number>({
  name,
  legend,
  options,
  value,
  choose,
}: SegmentedProps<T>): VNode {
  return (
    <fieldset class="segmented">
      <legend class="visually-hidden">{legend}</legend>
      <div class="segments">
        {options.map((option) => (
          <label key={option.value}>
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              onChange={() => choose(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
