/** Shapes of about the same area: they distinguish categories where colours do not. */
const polygon = (corners: number, radius: number, turn: number) =>
	Array.from({ length: corners }, (_, at) => {
		const angle = turn + (2 * Math.PI * at) / corners;
		return `${(radius * Math.cos(angle)).toFixed(2)} ${(radius * Math.sin(angle)).toFixed(2)}`;
	})
		.map((point, at) => `${at === 0 ? "M" : "L"}${point}`)
		.join("")
		.concat("Z");

const star = (r: number) =>
	Array.from({ length: 10 }, (_, at) => {
		const angle = -Math.PI / 2 + (Math.PI * at) / 5;
		const own = at % 2 === 0 ? r : r * 0.45;
		return `${at === 0 ? "M" : "L"}${(own * Math.cos(angle)).toFixed(2)} ${(own * Math.sin(angle)).toFixed(2)}`;
	})
		.join("")
		.concat("Z");

const plus = (r: number) => {
	const [out, arm] = [r, 0.38 * r].map((value) => value.toFixed(2));
	return `M-${arm} -${out}H${arm}V-${arm}H${out}V${arm}H${arm}V${out}H-${arm}V${arm}H-${out}V-${arm}H-${arm}Z`;
};

const up = -Math.PI / 2;

const shapes: readonly ((r: number) => string)[] = [
	(r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`,
	(r) => polygon(3, 1.3 * r, up),
	(r) => polygon(4, 1.2 * r, Math.PI / 4),
	(r) => polygon(4, 1.3 * r, 0),
	(r) => star(1.45 * r),
	(r) => polygon(3, 1.3 * r, -up),
	(r) => polygon(6, 1.15 * r, 0),
	(r) => polygon(5, 1.2 * r, up),
	(r) => plus(1.25 * r),
];

const pathOf = (at: number, r: number): string =>
	(shapes[at % shapes.length] as (r: number) => string)(r);

/** The symbol of the n-th category; hollow beyond the first nine. */
export function symbolStyle(at: number, r: number, colour: string) {
	const isHollow = Math.floor(at / shapes.length) % 2 === 1;
	return {
		path: pathOf(at, r),
		fill: isHollow ? "var(--surface)" : colour,
		stroke: colour,
		isHollow,
	};
}
