import { type RefObject, useEffect, useState } from "react";
import type { Patient, PatientEvent } from "../data/patient.js";
import { type QueryResult, QueryRunner } from "./query-runner.js";
import type { ModelCalls } from "./session.js";

/** Predictions for a patient's history, original and edited, updated whenever an argument changes; by the current `runner`. */
export function usePredictions(
	runner: RefObject<QueryRunner | null>,
	model: ModelCalls | null,
	patient: Patient,
	events: readonly PatientEvent[],
	date: number,
	horizon: number,
	zoom: readonly [from: number, to: number] | null,
): {
	/** The latest result, possibly of an earlier request. */
	readonly result: QueryResult | null;
	/** Whether the result belongs to the current arguments. */
	readonly isCurrent: boolean;
	/** Why the latest request failed. */
	readonly error: string | null;
	/** Whether all states are cached, so that edits are fast. */
	readonly ready: boolean;
} {
	const [result, setResult] = useState<QueryResult | null>(null);
	const [error, setError] = useState<string | null>(null);
	const [ready, setReady] = useState(false);
	useEffect(() => {
		setResult(null);
		setError(null);
		if (!model) return;
		const own = new QueryRunner(model, patient, {
			onResult: (next) => {
				setResult(next);
				setError(null);
			},
			onError: setError,
			onIdle: setReady,
		});
		runner.current = own;
		return () => own.stop();
	}, [runner, model, patient]);
	useEffect(() => {
		setError(null);
		if (model)
			runner.current?.submit({ patient, events, date, horizon, zoom, since: performance.now() });
	}, [runner, model, patient, events, date, horizon, zoom]);
	const { request } = result ?? {};
	const isCurrent =
		request?.events === events &&
		request.date === date &&
		request.horizon === horizon &&
		request.zoom === zoom;
	// A result of the previous patient must not be shown.
	const isOwn = request?.patient === patient;
	return { result: isOwn ? result : null, isCurrent: isOwn && isCurrent, error, ready };
}
