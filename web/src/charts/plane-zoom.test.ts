import { expect, test } from "vitest";
import { movedBy, wholePlane, zoomedBy, zoomedByKey } from "./plane-zoom.js";

const frame = [800, 600] as const;

test("the point under the pointer stays where it is", () => {
	const once = zoomedBy(wholePlane, 2, [200, 150], frame);
	expect(once).toEqual({ scale: 2, left: -200, top: -150 });
	expect(zoomedBy(once, 0.5, [200, 150], frame)).toEqual(wholePlane);
});

test("never smaller than the frame, never closer than twelve times", () => {
	expect(zoomedBy(wholePlane, 0.1, [0, 0], frame)).toEqual(wholePlane);
	expect(zoomedBy(wholePlane, 100, [0, 0], frame).scale).toBe(12);
});

test("the drawing always covers its frame", () => {
	const zoom = zoomedBy(wholePlane, 2, [400, 300], frame);
	expect(movedBy(zoom, [5000, 5000], frame)).toMatchObject({ left: 0, top: 0 });
	expect(movedBy(zoom, [-5000, -5000], frame)).toMatchObject({ left: -800, top: -600 });
	expect(movedBy(wholePlane, [50, 50], frame)).toEqual(wholePlane);
});

test("keys zoom, move and reset; others do nothing", () => {
	const closer = zoomedByKey(wholePlane, "+", frame);
	expect(closer).toMatchObject({ scale: 1.5 });
	expect(zoomedByKey(closer!, "ArrowRight", frame)?.left).toBe(closer!.left - 60);
	expect(zoomedByKey(closer!, "0", frame)).toEqual(wholePlane);
	expect(zoomedByKey(closer!, "-", frame)?.scale).toBeCloseTo(1);
	expect(zoomedByKey(closer!, "a", frame)).toBeNull();
});
