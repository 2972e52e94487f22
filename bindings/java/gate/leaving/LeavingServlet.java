package io.github.orbgate.servlet;

import io.github.orbgate.Leaving;
import io.github.orbgate.Leaving.Plan;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Does what the plan of a call says. */
public final class LeavingServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    /** The container ends what nobody answers. */
    private static final long TIMEOUT_MS = 5;

    private final transient Leaving leaving;

    /** Of these calls. */
    public LeavingServlet(Leaving leaving) {
        this.leaving = leaving;
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            return; // The page of an error.
        }
        Plan plan = leaving.plan(request.getHeader("X-Number"));
        switch (plan.handler) {
            case LATER -> {
                AsyncContext async = request.startAsync();
                async.setTimeout(0);
                leaving.later(() -> {
                    try {
                        answer(plan, request, response);
                    } catch (IOException left) {
                        // It is completed in any case.
                    } finally {
                        async.complete();
                    }
                });
            }
            case NEVER -> request.startAsync().setTimeout(TIMEOUT_MS);
            default -> answer(plan, request, response);
        }
    }

    private static void answer(Plan plan, HttpServletRequest request, HttpServletResponse response) throws IOException {
        request.getInputStream().readAllBytes();
        plan.answer(response.getOutputStream());
    }
}
