/**
 * A string that contains a text, and its retainer: the kind of edge, its name, and the object it starts from.
 */
export interface Retained {
  readonly value: string;
  readonly retainers: readonly string[];
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: string[];
      readonly node_types: [string[], ...unknown[]];
      readonly edge_fields: string[];
      readonly edge_types: [string[], ...unknown[]];
    };
  };
  readonly nodes: number[];
  readonly edges: number[];
  readonly strings: string[];
}

type Columns = Readonly<Record<'type' | 'name' | 'edgeCount' | 'edgeType' | 'edgeName' | 'edgeTo', number>>;

const STRINGS = ['string', 'concatenated string', 'sliced string'];

/**
 * Finds the strings of a V8 heap snapshot that contain a text, with their retainers. Weak edges retain
 * nothing.
 */
export function retainersIn(json: string, text: string): Retained[] {
  const heap = new Heap(JSON.parse(json) as Snapshot);
  const found = heap.stringsWith(text);
  const retainers = heap.retainersOf(new Set(found));
  return found.map((node) => ({ value: heap.nameOf(node), retainers: retainers.get(node) ?? [] }));
}

class Heap {
  readonly #snapshot: Snapshot;
  readonly #nodeSize: number;
  readonly #edgeSize: number;
  readonly #at: Columns;

  constructor(snapshot: Snapshot) {
    const { node_fields: node, edge_fields: edge } = snapshot.snapshot.meta;
    this.#snapshot = snapshot;
    this.#nodeSize = node.length;
    this.#edgeSize = edge.length;
    const [type, name, edgeCount] = ['type', 'name', 'edge_count'].map((field) => node.indexOf(field));
    const [edgeType, edgeName, edgeTo] = ['type', 'name_or_index', 'to_node'].map((field) =>
      edge.indexOf(field),
    );
    this.#at = { type, name, edgeCount, edgeType, edgeName, edgeTo } as Columns;
  }

  nameOf(node: number): string {
    return this.#text(this.#snapshot.nodes[node + this.#at.name]);
  }

  stringsWith(text: string): number[] {
    const nodes: number[] = [];
    for (let node = 0; node < this.#snapshot.nodes.length; node += this.#nodeSize) {
      if (STRINGS.includes(this.#typeOf(node)) && this.nameOf(node).includes(text)) nodes.push(node);
    }
    return nodes;
  }

  retainersOf(targets: ReadonlySet<number>): Map<number, string[]> {
    const retainers = new Map<number, string[]>();
    const types = this.#snapshot.snapshot.meta.edge_types[0];
    let edge = 0;
    for (let node = 0; node < this.#snapshot.nodes.length; node += this.#nodeSize) {
      const end = edge + (this.#snapshot.nodes[node + this.#at.edgeCount] ?? 0) * this.#edgeSize;
      for (; edge < end; edge += this.#edgeSize) {
        const to = this.#snapshot.edges[edge + this.#at.edgeTo] ?? -1;
        const type = types[this.#snapshot.edges[edge + this.#at.edgeType] ?? -1] ?? '';
        if (!targets.has(to) || type === 'weak') continue;
        const name = this.#snapshot.edges[edge + this.#at.edgeName];
        const label = type === 'element' || type === 'hidden' ? String(name) : this.#text(name);
        retainers.set(to, [
          ...(retainers.get(to) ?? []),
          `${type} ${label} of ${this.#typeOf(node)} ${this.nameOf(node).slice(0, 100)}`,
        ]);
      }
    }
    return retainers;
  }

  #typeOf(node: number): string {
    return this.#snapshot.snapshot.meta.node_types[0][this.#snapshot.nodes[node + this.#at.type] ?? -1] ?? '';
  }

  #text(index: number | undefined): string {
    return this.#snapshot.strings[index ?? -1] ?? '';
  }
}
